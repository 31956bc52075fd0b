"""The JavaScript modules and styles of the pages, each with one purpose."""
