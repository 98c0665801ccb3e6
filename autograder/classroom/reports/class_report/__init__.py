"""What an instructor reads about a class: a page and a table, made of journal and gradebook."""
