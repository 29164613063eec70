import { chooseLinkOrigin, type Actor } from '#api/access';
import type { SignedLinks } from '#storage/blob-store';
import { FILE_KINDS, type FileKind } from './state.files.js';

/** URLs of state files, which clients use unchanged. */
export class StateLinks {
  constructor(
    private readonly publicUrl: string,
    private readonly signed: SignedLinks,
  ) {}

  /** Returns a signed URL that replaces the permission: clients upload to it without a token. */
  upload(stateVersion: string, kind: FileKind, actor: Actor): string {
    return `${chooseLinkOrigin(actor, this.publicUrl)}/api/v2/state-versions/upload/${this.signed.sign(`${kind} ${stateVersion}`)}`;
  }

  /** Returns a URL that requires a token with the permission to read state. */
  download(stateVersion: string, kind: FileKind, actor: Actor): string {
    return `${chooseLinkOrigin(actor, this.publicUrl)}/api/v2/state-versions/${stateVersion}/${kind === 'state' ? '' : 'json-'}download`;
  }

  /** Throws `forbidden` if the token is invalid or has expired. */
  uploadOf(token: string): { readonly stateVersion: string; readonly kind: FileKind } {
    const [name = '', stateVersion = ''] = this.signed.subjectOf(token).split(' ');
    const kind = FILE_KINDS.find((candidate) => candidate === name);
    if (!kind) throw new Error(`a signed link names the unknown file kind ${name}`);
    return { stateVersion, kind };
  }
}
