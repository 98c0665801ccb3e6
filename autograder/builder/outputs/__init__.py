"""The files that the builder writes: notebooks, lessons, maps, references and locks."""
