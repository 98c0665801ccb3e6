"""The ground: what an exercise's graph may hold, and how it is run. Imports nothing above it."""
