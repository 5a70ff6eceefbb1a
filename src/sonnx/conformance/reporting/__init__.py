"""Reports on a runtime: for people at a terminal or in a browser, for programs, for build servers."""
