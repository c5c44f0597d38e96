// process.cpp: see process.h. posix_spawn does not copy this process, which has many threads and much memory.
#include "process.h"

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

extern char** environ;

namespace emu {

bool runProcess(const std::vector<std::string>& command, const std::string& folder, std::string* said) {
  std::string output = folder + "/said";
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  // The compiler gets no signals blocked, as this thread may have, and speaks English.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  std::vector<char*> args, env;
  for (auto& a : command) args.push_back(const_cast<char*>(a.c_str()));
  args.push_back(nullptr);
  char english[] = "LC_ALL=C";
  for (char** e = environ; *e; e++)
    if (std::strncmp(*e, "LC_ALL=", 7)) env.push_back(*e);
  env.push_back(english);
  env.push_back(nullptr);
  pid_t pid;
  int failed = posix_spawn(&pid, args[0], &files, &attributes, args.data(), env.data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failed) {
    *said = command[0] + ": " + std::strerror(failed);
    return false;
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  std::ifstream f(output);
  std::stringstream s;
  s << f.rdbuf();
  *said = s.str();
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void removeFolder(const std::string& folder) {
  if (DIR* d = opendir(folder.c_str())) {
    while (dirent* e = readdir(d)) {
      std::string name = e->d_name;
      if (name != "." && name != "..") unlink((folder + "/" + name).c_str());
    }
    closedir(d);
  }
  rmdir(folder.c_str());
}

}  // namespace emu
