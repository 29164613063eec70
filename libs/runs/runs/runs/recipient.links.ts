import { chooseLinkOrigin, createEventContext, type Actor } from '#api/access';
import type { SignedLinks } from '#storage/blob-store';
import type { LinkRecipient } from './run-logs.links.js';

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
    const { publicUrl, path, links, lifetimeMs } = this.options;
    const { id, type } = createEventContext(actor).accessor;
    return `${chooseLinkOrigin(actor, publicUrl)}${path}/${links.sign([...parts, id, type].join(' '), lifetimeMs)}`;
  }

  /** Returns the parts of the subject, and the caller. Throws forbidden if the token is forged or has expired. */
  verify(token: string): { readonly parts: readonly string[]; readonly recipient: LinkRecipient } {
    const parts = this.options.links.subjectOf(token).split(' ');
    const [id = '', type = ''] = parts.slice(-2);
    return { parts: parts.slice(0, -2), recipient: { id, type } };
  }
}
