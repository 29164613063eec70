import { z } from 'zod';
import type { ImportOrigin } from '#platform/kernel';
import { parseForeignPage, parseForeignResource, type ForeignResource } from '../source/source-documents.js';
import type { TargetFetch, TargetResponse } from './import-target.port.js';

/** The resource of a request. */
export type NewResource = {
  readonly type: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly relationships?: Readonly<Record<string, unknown>>;
};

/** An attribute that the site does not accept, or a member of one, and why. */
type DroppedAttribute = { readonly path: readonly string[]; readonly detail: string };

/** What became of a creation. */
type CreationOutcome =
  { readonly id: string; readonly dropped: readonly DroppedAttribute[] } | { readonly refused: string };

const errorDocument = z.object({
  errors: z.array(
    z.object({
      title: z.string().optional(),
      detail: z.string().optional(),
      source: z.object({ pointer: z.string().optional() }).optional(),
    }),
  ),
});

const POINTER = '/data/attributes/';
/** How a resource is created. `optional`: attributes without which it is still a copy. */
type CreationOptions = { readonly origin: ImportOrigin; readonly optional: readonly string[] };

const parseErrors = ({ document }: TargetResponse) => errorDocument.safeParse(document).data?.errors ?? [];

const describeRefusal = (response: TargetResponse): string =>
  parseErrors(response)
    .map(({ detail, title }) => detail ?? title ?? '')
    .join(' ') || `The site answered ${response.status}`;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the path of the attribute, or of its member, that a pointer names. */
const parsePointer = (
  pointer: string,
  attributes: Readonly<Record<string, unknown>>,
  optional: readonly string[],
): readonly string[] | null => {
  const [name = '', member] = pointer.startsWith(POINTER) ? pointer.slice(POINTER.length).split('/') : [];
  if (!Object.hasOwn(attributes, name) || !optional.includes(name)) return null;
  const value = attributes[name];
  return member !== undefined && isObject(value) && Object.hasOwn(value, member) ? [name, member] : [name];
};

const findRefusedAttribute = (
  response: TargetResponse,
  { attributes }: NewResource,
  optional: readonly string[],
): DroppedAttribute | null => {
  if (response.status !== 422) return null;
  for (const { source, detail = '' } of parseErrors(response)) {
    const path = parsePointer(source?.pointer ?? '', attributes, optional);
    if (path) return { path, detail };
  }
  return null;
};

const dropAttribute = (
  attributes: Readonly<Record<string, unknown>>,
  [name = '', member]: readonly string[],
): Readonly<Record<string, unknown>> => {
  const { [name]: value, ...others } = attributes;
  if (member === undefined || !isObject(value)) return others;
  const { [member]: _, ...members } = value;
  return { ...others, [name]: members };
};

/** The statuses that say that a resource is not wanted. All others end the import. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 404, 409, 413, 422]);

const requireExpected = (response: TargetResponse, path: string): void => {
  if (response.status < 300 || REFUSALS.has(response.status)) return;
  throw new Error(`${path}: ${describeRefusal(response)}`);
};

/** Reads and writes resources of the organization that gets the import. */
export class ImportTarget {
  constructor(private readonly fetch: TargetFetch) {}

  /** Returns the resource at a path; null if there is none. */
  async find(path: string): Promise<ForeignResource | null> {
    const response = await this.fetch({ method: 'GET', path });
    requireExpected(response, path);
    return response.status === 200 ? parseForeignResource(response.document) : null;
  }

  async list(path: string): Promise<readonly ForeignResource[]> {
    const resources: ForeignResource[] = [];
    const separator = path.includes('?') ? '&' : '?';
    for (let number: number | null = 1; number !== null;) {
      const page = `${path}${separator}page[number]=${number}&page[size]=100`;
      const response = await this.fetch({ method: 'GET', path: page });
      if (response.status !== 200) throw new Error(`${path}: ${describeRefusal(response)}`);
      const read = parseForeignPage(response.document);
      resources.push(...read.resources);
      number = read.next;
    }
    return resources;
  }

  /** Creates a resource. Leaves out optional attributes that the site refuses. */
  async create(path: string, resource: NewResource, { origin, optional }: CreationOptions): Promise<CreationOutcome> {
    const dropped: DroppedAttribute[] = [];
    for (let body = resource; ;) {
      const response = await this.fetch({ method: 'POST', path, body: { data: body }, origin });
      requireExpected(response, path);
      if (response.status < 300) return { id: parseForeignResource(response.document).id, dropped };
      const refused = findRefusedAttribute(response, body, optional);
      if (!refused) return { refused: describeRefusal(response) };
      dropped.push(refused);
      body = { ...body, attributes: dropAttribute(body.attributes, refused.path) };
    }
  }

  /** Returns the MD5 of a file; null if it cannot be read. */
  async digest(path: string): Promise<string | null> {
    const response = await this.fetch({ method: 'GET', path });
    return response.status === 200 ? response.md5 : null;
  }

  /** Sends a change. Returns null, or why it is refused. */
  async change(path: string, body: unknown, origin?: ImportOrigin): Promise<string | null> {
    const response = await this.fetch({ method: 'POST', path, body, ...(origin ? { origin } : {}) });
    requireExpected(response, path);
    return response.status < 300 ? null : describeRefusal(response);
  }
}
