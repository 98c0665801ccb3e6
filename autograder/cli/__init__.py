"""The command `fxcourse`, a module for each group of subcommands."""
