import { GPG_KEYS, pathOfProviders, pathOfVersions } from './registry.js';
import { expectStatus } from './seeds.js';
import type { ApiTestClient } from './server.js';

type DocumentTable = Map<string, unknown>;

const readData = async (api: ApiTestClient, path: string): Promise<any> =>
  expectStatus(await api.get(path), 200).body.data;

const readList = async (api: ApiTestClient, path: string): Promise<any[]> => {
  const list: any[] = [];
  for (let page: number | null = 1; page;) {
    const { body } = expectStatus(await api.get(`${path}?page[size]=100&page[number]=${page}`), 200);
    list.push(...body.data);
    page = body.meta?.pagination?.['next-page'] ?? null;
  }
  return list;
};

const without = (name: string, attributes: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(attributes).filter(([key]) => key !== name));

const withoutFileLinks = ({ links: { self }, ...rest }: any) => ({ ...rest, links: { self } });

const withoutSetterNames = (bindings: readonly any[]) =>
  bindings.map(({ attributes: { 'set-by': setter, ...attributes }, ...rest }) => ({
    ...rest,
    attributes: { ...attributes, 'set-by': setter && without('name', setter) },
  }));

const readOrganizations = async (api: ApiTestClient, name: string): Promise<DocumentTable> => {
  const table: DocumentTable = new Map();
  const organization = await readData(api, `/api/v2/organizations/${name}`);
  const attributes = without('email', organization.attributes);
  table.set(organization.attributes['external-id'], { data: { ...organization, attributes } });
  for (const type of ['projects', 'teams'])
    for (const { id } of await readList(api, `/api/v2/organizations/${name}/${type}`))
      table.set(id, { data: await readData(api, `/api/v2/${type}/${id}`) });
  return table;
};

const readWorkspaces = async (api: ApiTestClient, name: string): Promise<DocumentTable> => {
  const table: DocumentTable = new Map();
  for (const { id } of await readList(api, `/api/v2/organizations/${name}/workspaces`))
    table.set(id, { data: await readData(api, `/api/v2/workspaces/${id}`) });
  return table;
};

const readTags = async (api: ApiTestClient, name: string): Promise<DocumentTable> => {
  const table: DocumentTable = new Map();
  for (const data of await readList(api, `/api/v2/organizations/${name}/reserved-tag-keys`))
    table.set(data.id, { data });
  for (const type of ['projects', 'workspaces'])
    for (const { id } of await readList(api, `/api/v2/organizations/${name}/${type}`))
      table.set(id, { data: withoutSetterNames(await readData(api, `/api/v2/${type}/${id}/tag-bindings`)) });
  return table;
};

const readRegistry = async (api: ApiTestClient, name: string): Promise<DocumentTable> => {
  const table: DocumentTable = new Map();
  for (const data of await readData(api, `${GPG_KEYS}?filter[namespace]=${name}`)) table.set(data.id, { data });
  for (const provider of await readList(api, pathOfProviders(name))) {
    table.set(provider.id, { data: await readData(api, provider.links.self) });
    const versions = pathOfVersions(name, provider.attributes.name);
    for (const version of await readList(api, versions)) {
      table.set(version.id, { data: withoutFileLinks(version) });
      for (const platform of await readList(api, `${versions}/${version.attributes.version}/platforms`))
        table.set(platform.id, { data: withoutFileLinks(platform) });
    }
  }
  return table;
};

const READERS = {
  'organizations.state': readOrganizations,
  'workspaces.state': readWorkspaces,
  'tags.state': readTags,
  'registry.state': readRegistry,
};

/** Returns the documents of an organization that the API shows this caller, as its state topics must contain them. */
export const readShownDocuments = async (
  api: ApiTestClient,
  organization: string,
): Promise<Readonly<Record<string, ReadonlyMap<string, unknown>>>> => {
  const tables = Object.entries(READERS).map(async ([topic, read]) => [topic, await read(api, organization)] as const);
  return Object.fromEntries(await Promise.all(tables));
};
