# Package of urllib.parse; defines nothing itself.
