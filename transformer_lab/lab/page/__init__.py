"""What is drawn by the reader's browser: JavaScript modules of one purpose each, and their styles."""
