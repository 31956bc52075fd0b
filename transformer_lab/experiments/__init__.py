"""Studies that take too long for a page: each module runs one and stores what it found."""
