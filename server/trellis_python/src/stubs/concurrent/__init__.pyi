# Package of concurrent.futures; defines nothing itself.
