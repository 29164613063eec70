import { LINK_LIFETIME_MS, type SignedLinks } from '#blob-store';

/** A file of a release, by what it belongs to. */
export type ReleaseFile =
  | { readonly kind: 'shasums' | 'shasums-sig'; readonly version: string }
  | { readonly kind: 'binary'; readonly version: string; readonly platform: string };

/** Documents are compared whole, and answers of the CLI's protocol are remembered by their tag: links do not change at once. */
const SAME_FOR_MS = 60 * 60 * 1000;

const KINDS = ['shasums', 'shasums-sig', 'binary'] as const;

const formatSubject = (file: ReleaseFile): string =>
  [file.kind, file.version, ...(file.kind === 'binary' ? [file.platform] : [])].join(' ');

const parseSubject = (subject: string): ReleaseFile => {
  const [name = '', version = '', platform = ''] = subject.split(' ');
  const kind = KINDS.find((known) => known === name);
  if (!kind) throw new Error(`we signed a link for a file called ${name}`);
  return kind === 'binary' ? { kind, version, platform } : { kind, version };
};

const signLink = (links: SignedLinks, file: ReleaseFile): string =>
  links.sign(formatSubject(file), LINK_LIFETIME_MS, SAME_FOR_MS);

/** The absolute addresses of files. They stand for the permission: clients come there without a token (clients.md §5). */
export class ReleaseLinks {
  constructor(
    private readonly publicUrl: string,
    private readonly uploads: SignedLinks,
    private readonly downloads: SignedLinks,
  ) {}

  upload(file: ReleaseFile): string {
    return `${this.publicUrl}/api/registry/private/v2/uploads/${signLink(this.uploads, file)}`;
  }

  /** Ends with the name of the file, for who saves it under the last part of its address. */
  download(file: ReleaseFile, filename: string): string {
    return `${this.publicUrl}/api/registry/private/v2/files/${signLink(this.downloads, file)}/${encodeURIComponent(filename)}`;
  }

  /** Throws `forbidden` for a token that is not ours or has expired. */
  uploadOf(token: string): ReleaseFile {
    return parseSubject(this.uploads.subjectOf(token));
  }

  downloadOf(token: string): ReleaseFile {
    return parseSubject(this.downloads.subjectOf(token));
  }
}
