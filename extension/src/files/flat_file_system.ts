// A file system of texts that have no folders: nothing is created, deleted or renamed.
import { FileSystemError, type FileType, type Uri } from 'vscode';

export abstract class FlatFileSystem {
  readDirectory(): [string, FileType][] {
    return [];
  }

  createDirectory(uri: Uri): void {
    throw FileSystemError.NoPermissions(uri);
  }

  delete(uri: Uri): void {
    throw FileSystemError.NoPermissions(uri);
  }

  rename(from: Uri): void {
    throw FileSystemError.NoPermissions(from);
  }
}
