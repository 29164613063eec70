import type { SignedLinks } from '#blob-store';
import { FILE_KINDS, type FileKind } from './state.files.js';

/** The absolute addresses of state files: clients take them as they come (clients.md §4). */
export class StateLinks {
  constructor(
    private readonly publicUrl: string,
    private readonly signed: SignedLinks,
  ) {}

  /** Stands for the permission: clients PUT there without a token. */
  upload(stateVersion: string, kind: FileKind): string {
    return `${this.publicUrl}/api/v2/state-versions/upload/${this.signed.sign(`${kind} ${stateVersion}`)}`;
  }

  /** Wants a token, and the permission to read state. */
  download(stateVersion: string, kind: FileKind): string {
    return `${this.publicUrl}/api/v2/state-versions/${stateVersion}/${kind === 'state' ? '' : 'json-'}download`;
  }

  /** Throws `forbidden` for a token that is not ours or has expired. */
  uploadOf(token: string): { readonly stateVersion: string; readonly kind: FileKind } {
    const [name = '', stateVersion = ''] = this.signed.subjectOf(token).split(' ');
    const kind = FILE_KINDS.find((known) => known === name);
    if (!kind) throw new Error(`we signed a link for a file called ${name}`);
    return { stateVersion, kind };
  }
}
