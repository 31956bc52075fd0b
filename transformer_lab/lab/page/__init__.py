"""Build pages from data, JavaScript modules and style sheets."""
