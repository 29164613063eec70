import { chooseLinkOrigin, createEventContext, type Actor } from '#api/access';
import type { SignedLinks } from '#storage/blob-store';
import type { LinkSigner } from '../runs/recipient.links.js';

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

  static with(publicUrl: string, sign: LinkSigner): ConfigurationLinks {
    return new ConfigurationLinks(publicUrl, sign('configuration upload'), sign('configuration download'));
  }

  upload(id: string): string {
    return `${this.publicUrl}/api/v2/configuration-versions/upload/${this.uploads.sign(id)}`;
  }

  /** Contains the caller it was issued to, because the trail records that caller for the download. */
  download(id: string, actor: Actor): string {
    const origin = chooseLinkOrigin(actor, this.publicUrl);
    return this.buildDownload(origin, id, createEventContext(actor).accessor, DOWNLOAD_LIFETIME_MS);
  }

  /** For a recipient that is no caller of the API. */
  downloadFor(id: string, recipient: DownloadAccessor, lifetimeMs: number): string {
    return this.buildDownload(this.publicUrl, id, recipient, lifetimeMs);
  }

  /** Returns the id of the version to upload; throws forbidden if the token is forged or expired. */
  uploadOf(token: string): string {
    return this.uploads.subjectOf(token);
  }

  downloadOf(token: string): { readonly id: string; readonly recipient: DownloadAccessor } {
    const [id = '', holder = '', type = ''] = this.downloads.subjectOf(token).split(' ');
    return { id, recipient: { id: holder, type } };
  }

  private buildDownload(origin: string, id: string, recipient: DownloadAccessor, lifetimeMs: number): string {
    const token = this.downloads.sign(`${id} ${recipient.id} ${recipient.type}`, lifetimeMs);
    return `${origin}/api/v2/configuration-versions/download/${token}`;
  }
}
