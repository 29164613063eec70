import { ACTOR_TYPE, chooseLinkOrigin, toActingPrincipal, type CallerAtHost, type Identity } from '#api/access';
import { LINK_LIFETIME_MS, type SignedLinks } from '#storage/blob-store';

/** The caller that a link was made for. */
export type ModuleLinkRecipient = { readonly type: string; readonly id: string };

export type ModuleLink = { readonly versionId: string; readonly recipient: ModuleLinkRecipient };

/** Clients follow a download at once. */
const DOWNLOAD_LIFETIME_MS = 15 * 60 * 1000;
/** Period in which an upload link stays the same, because clients compare whole documents. */
const SAME_FOR_MS = 60 * 60 * 1000;

const PATH = '/api/registry/private/v2/modules/object';

const parseSubject = (subject: string): ModuleLink => {
  const [versionId = '', type = '', id = ''] = subject.split(' ');
  return { versionId, recipient: { type, id } };
};

/** The name under which clients save an archive. They unpack it because of its ending. */
export const formatArchiveName = (names: {
  readonly name: string;
  readonly provider: string;
  readonly version: string;
}): string => `${names.name}-${names.provider}-${names.version}.tar.gz`;

/** URLs of archives. A URL replaces the permission: clients send no token with it. */
export class ModuleLinks {
  constructor(
    private readonly publicUrl: string,
    private readonly uploads: SignedLinks,
    private readonly downloads: SignedLinks,
  ) {}

  /** Returns an upload link. It names the uploader, whose access is checked when the file arrives. */
  upload(versionId: string, uploader: Identity): string {
    const { type, id } = toActingPrincipal(uploader);
    const token = this.uploads.sign(`${versionId} ${type} ${id}`, LINK_LIFETIME_MS, SAME_FOR_MS);
    return `${this.publicUrl}${PATH}/${token}`;
  }

  /** It names the caller, because IP allowlists restrict agents and other callers to different addresses. */
  download(versionId: string, filename: string, recipient: CallerAtHost): string {
    const subject = `${versionId} ${ACTOR_TYPE[recipient.kind]} ${recipient.id}`;
    const token = this.downloads.sign(subject, DOWNLOAD_LIFETIME_MS);
    return `${chooseLinkOrigin(recipient, this.publicUrl)}${PATH}/${token}/${encodeURIComponent(filename)}`;
  }

  /** Throws `forbidden` if the token is invalid or has expired. */
  uploadOf(token: string): ModuleLink {
    return parseSubject(this.uploads.subjectOf(token));
  }

  downloadOf(token: string): ModuleLink {
    return parseSubject(this.downloads.subjectOf(token));
  }
}
