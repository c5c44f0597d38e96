// Package magic is what a notebook's %amp lines and %%amp cells mean: it reads them, answers them, completes them and explains
// them. It knows nothing of Jupyter's messages, which are package kernel's, nor of how cells run.
//
// # Lines
//
// A row of a cell that begins with %amp is a question or a setting. Such rows run before the Go code of their cell, in order;
// they may stand among GoNB's own commands and Go code. A row that ends in a backslash goes on in the next. A row that is wrong
// stops the cell: the error names the word and the one that was probably meant.
//
//	%amp help [topic]                       what there is
//	%amp status                             what is set, what lives between cells, which versions
//	%amp device [auto|cpu|cuda:N|default]   list the devices, or choose the one that scopes are made on
//	%amp policy [OP…]                       what autocast does with an op, and why
//	%amp force [OP=DTYPE…|clear [OP…]]      run an op in another precision than its class asks for
//	%amp trace [off|decisions|health [every N]|default]
//	%amp ops [PATTERN]                      search the op table
//	%amp scale [VALUE] [interval N] [min VALUE]|default
//	%amp session [list|sizes|drop NAME…|save NAME FILE|load NAME FILE]
//	%amp doctor                             look at the installation
//	%amp version
//
// Settings hold until the kernel ends. They are defaults: amp.NewScope and amp.NewGradScaler take them where the program says
// nothing itself, and traces and histories say when they did (amp.Defaults).
//
// # Cells
//
//	%%amp float16|bfloat16|off [--trace off|decisions|health] [--every N] [--show decisions,scale,exponents,flow,rounding] [--fp8 tensor|row|block] [--fp4 [nv|mx]]
//
// runs the rows below it as statements that find two scopes, s (a root with a recorder) and half (s under autocast to the dtype),
// and shows figures at the end, also when the body panics or is interrupted. Rows above it are declarations. With off, autocast is
// off in both scopes. For a step of s.Steps, step.Autocast(amp.NoDType) is what half is for s. A body that uses package session finds
// s joined to it.
//
// Rows never move: what is compiled for a cell has each of them where the notebook has it (Cell.Rewrite), so that compile errors,
// panics and traces name the lines that the user sees.
package magic
