import { chooseLinkOrigin, createEventContext, type Actor } from '#api/access';
import type { SignedLinks } from '#storage/blob-store';
import type { LinkRecipient } from './run-logs.links.js';

/** The type of the recipient of links in requests to run tasks. The result is its id. */
export const TASK_RECIPIENT = 'task-results';

/** Returns the signer of one purpose. */
export type LinkSigner = (purpose: string) => SignedLinks;

type RecipientLinkOptions = {
  readonly publicUrl: string;
  /** The path of the files, without a trailing slash. */
  readonly path: string;
  readonly links: SignedLinks;
  readonly lifetimeMs: number;
};

/** Signed URLs that contain the caller that they were made for. The parts of a subject have no spaces. */
export class RecipientLinks {
  constructor(private readonly options: RecipientLinkOptions) {}

  sign(parts: readonly (string | number)[], actor: Actor): string {
    const { publicUrl, lifetimeMs } = this.options;
    const { accessor } = createEventContext(actor);
    return this.buildUrl(chooseLinkOrigin(actor, publicUrl), [...parts, accessor.id, accessor.type], lifetimeMs);
  }

  /** Signs for a recipient that is no caller of the API. */
  signFor(parts: readonly (string | number)[], { id, type }: LinkRecipient, lifetimeMs: number): string {
    return this.buildUrl(this.options.publicUrl, [...parts, id, type], lifetimeMs);
  }

  /** Returns the parts of the subject, and the caller. Throws forbidden if the token is forged or has expired. */
  verify(token: string): { readonly parts: readonly string[]; readonly recipient: LinkRecipient } {
    const parts = this.options.links.subjectOf(token).split(' ');
    const [id = '', type = ''] = parts.slice(-2);
    return { parts: parts.slice(0, -2), recipient: { id, type } };
  }

  private buildUrl(origin: string, parts: readonly (string | number)[], lifetimeMs: number): string {
    const { path, links } = this.options;
    return `${origin}${path}/${links.sign(parts.join(' '), lifetimeMs)}`;
  }
}
