import { chooseLinkOrigin, createEventContext, type Actor } from '#api/access';
import type { SignedLinks } from '#storage/blob-store';

/** The accessor that the audit trail records for a download. */
export type DownloadAccessor = { readonly id: string; readonly type: string };

/** Clients follow a download at once, so the link expires soon. */
const DOWNLOAD_LIFETIME_MS = 15 * 60 * 1000;

/** Signed URLs of archives. The link replaces the permission check: clients use it without a token. */
export class ConfigurationLinks {
  constructor(
    private readonly publicUrl: string,
    private readonly uploads: SignedLinks,
    private readonly downloads: SignedLinks,
  ) {}

  upload(id: string): string {
    return `${this.publicUrl}/api/v2/configuration-versions/upload/${this.uploads.sign(id)}`;
  }

  /** Contains the caller it was issued to, because the trail records that caller for the download. */
  download(id: string, actor: Actor): string {
    const { accessor } = createEventContext(actor);
    const token = this.downloads.sign(`${id} ${accessor.id} ${accessor.type}`, DOWNLOAD_LIFETIME_MS);
    return `${chooseLinkOrigin(actor, this.publicUrl)}/api/v2/configuration-versions/download/${token}`;
  }

  /** Returns the id of the version to upload; throws forbidden if the token is forged or expired. */
  uploadOf(token: string): string {
    return this.uploads.subjectOf(token);
  }

  downloadOf(token: string): { readonly id: string; readonly recipient: DownloadAccessor } {
    const [id = '', holder = '', type = ''] = this.downloads.subjectOf(token).split(' ');
    return { id, recipient: { id: holder, type } };
  }
}
