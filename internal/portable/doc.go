// Package portable keeps what programs and cells import compiling on systems that the tests do not run on.
package portable
