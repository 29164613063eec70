import { ACTOR_TYPE, chooseLinkOrigin, toActingPrincipal, type Identity, type CallerAtHost } from '#api/access';
import { LINK_LIFETIME_MS, type SignedLinks } from '#storage/blob-store';
import { forbidden } from '#platform/kernel';

/** A file of a release, identified by the version or platform that it belongs to. */
export type ReleaseFile =
  | { readonly kind: 'shasums' | 'shasums-sig'; readonly version: string }
  | { readonly kind: 'binary'; readonly version: string; readonly platform: string };

/**
 * Period in which a link stays the same. Clients compare whole documents, and cache responses of the provider protocol
 * by ETag.
 */
const SAME_FOR_MS = 60 * 60 * 1000;

const KINDS = ['shasums', 'shasums-sig', 'binary'] as const;

/** The caller that a link was made for. Links of earlier releases for downloads name none. */
export type ReleaseLinkRecipient = { readonly type: string; readonly id: string };

const formatSubject = (file: ReleaseFile): string =>
  [file.kind, file.version, ...(file.kind === 'binary' ? [file.platform] : [])].join(' ');

const isKind = (text: string): boolean => KINDS.some((kind) => kind === text);

const parseSubject = (subject: string): ReleaseFile => {
  const [name = '', version = '', platform = ''] = subject.split(' ');
  const kind = KINDS.find((candidate) => candidate === name);
  if (!kind) throw new Error(`a signed link names the unknown file kind ${name}`);
  return kind === 'binary' ? { kind, version, platform } : { kind, version };
};

const signLink = (links: SignedLinks, subject: string): string => links.sign(subject, LINK_LIFETIME_MS, SAME_FOR_MS);

/** The links to files in documents. */
export type FileLinks = Pick<ReleaseLinks, 'upload' | 'download'>;

/** URLs of files. A URL replaces the permission: clients send no token with it. */
export class ReleaseLinks {
  constructor(
    private readonly publicUrl: string,
    private readonly uploads: SignedLinks,
    private readonly downloads: SignedLinks,
  ) {}

  /** Returns an upload link. It names the uploader, whose access is checked when the file arrives. */
  upload(file: ReleaseFile, uploader: Identity): string {
    const { type, id } = toActingPrincipal(uploader);
    const subject = `${type} ${id} ${formatSubject(file)}`;
    return `${this.publicUrl}/api/registry/private/v2/uploads/${signLink(this.uploads, subject)}`;
  }

  /**
   * Returns a URL that ends with the file name, for clients that save a file under the last segment of the URL. It names
   * the caller, because IP allowlists restrict agents and other callers to different addresses.
   */
  download(file: ReleaseFile, filename: string, recipient: CallerAtHost): string {
    // At the end, where gateways of 0.2.0 ignore it.
    const token = signLink(this.downloads, `${formatSubject(file)} ${ACTOR_TYPE[recipient.kind]} ${recipient.id}`);
    return `${chooseLinkOrigin(recipient, this.publicUrl)}/api/registry/private/v2/files/${token}/${encodeURIComponent(filename)}`;
  }

  /** Throws `forbidden` if the token is invalid or has expired, or if an earlier release made it, without a recipient. */
  uploadOf(token: string): { readonly file: ReleaseFile; readonly recipient: ReleaseLinkRecipient } {
    const [type = '', id = '', ...file] = this.uploads.subjectOf(token).split(' ');
    if (isKind(type)) throw forbidden('This link is not valid any more. Read the version again for a new one');
    return { file: parseSubject(file.join(' ')), recipient: { type, id } };
  }

  downloadOf(token: string): { readonly file: ReleaseFile; readonly recipient: ReleaseLinkRecipient } {
    const subject = this.downloads.subjectOf(token);
    const file = parseSubject(subject);
    const [type = '', id = ''] = subject.split(' ').slice(formatSubject(file).split(' ').length);
    return { file, recipient: { type, id } };
  }
}
