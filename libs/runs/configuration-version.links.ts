import type { SignedLinks } from '#blob-store';

/** A download is followed at once; nobody has to keep its address. */
const DOWNLOAD_LIFE_MS = 15 * 60 * 1000;

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

  download(id: string): string {
    return `${this.publicUrl}/api/v2/configuration-versions/download/${this.downloads.sign(id, DOWNLOAD_LIFE_MS)}`;
  }

  /** The version that may be uploaded; throws `forbidden` for a token that is not ours or has expired. */
  uploadOf(token: string): string {
    return this.uploads.subjectOf(token);
  }

  downloadOf(token: string): string {
    return this.downloads.subjectOf(token);
  }
}
