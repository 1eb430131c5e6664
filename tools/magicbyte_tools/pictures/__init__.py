"""Takes the pictures of pages that docs/pictures holds."""
