import type { SignedLinks } from '#blob-store';

/** Somebody, as the accessor of an event is told of. */
export type LinkRecipient = { readonly id: string; readonly type: string };

/** A download is followed at once; nobody has to keep its address. */
const DOWNLOAD_LIFETIME_MS = 15 * 60 * 1000;

/** The absolute addresses of archives. They stand for the permission: clients come there without a token. */
export class ConfigurationLinks {
  constructor(
    private readonly publicUrl: string,
    private readonly uploads: SignedLinks,
    private readonly downloads: SignedLinks,
  ) {}

  upload(id: string): string {
    return `${this.publicUrl}/api/v2/configuration-versions/upload/${this.uploads.sign(id)}`;
  }

  /** Remembers whom it was given to: who comes with it shows no token, and is told of in the trail. */
  download(id: string, givenTo: LinkRecipient): string {
    const token = this.downloads.sign(`${id} ${givenTo.id} ${givenTo.type}`, DOWNLOAD_LIFETIME_MS);
    return `${this.publicUrl}/api/v2/configuration-versions/download/${token}`;
  }

  /** The version that may be uploaded; throws `forbidden` for a token that is not ours or has expired. */
  uploadOf(token: string): string {
    return this.uploads.subjectOf(token);
  }

  downloadOf(token: string): { readonly id: string; readonly givenTo: LinkRecipient } {
    const [id = '', holder = '', type = ''] = this.downloads.subjectOf(token).split(' ');
    return { id, givenTo: { id: holder, type } };
  }
}
