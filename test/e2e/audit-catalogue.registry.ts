import {
  addKey,
  GPG_KEYS,
  makeProvider,
  makeVersion,
  NO_KEY,
  pathOfProvider,
  pathOfProviders,
  pathOfVersion,
  pathOfVersions,
  platformAttributes,
  platformBody,
  providerBody,
  versionBody,
} from '../support/registry.js';
import { makeSigner } from '../support/releases.js';
import { expectStatus, resource, tagBindings } from '../support/seeds.js';
import type { AuditedAction, CatalogueWorld } from './audit-catalogue.actions.js';

const VERSION = '1.0.0';

const freshProvider = async (land: CatalogueWorld) => {
  const name = land.unique('provider');
  return { name, id: await makeProvider(land.owner, land.name, name) };
};

const freshVersion = async (land: CatalogueWorld) => {
  const { name } = await freshProvider(land);
  const { id } = await makeVersion(land.owner, land.name, name, VERSION);
  return { name, id: id as string, path: pathOfVersion(land.name, name, VERSION) };
};

const freshPlatform = async (land: CatalogueWorld) => {
  const { name, path } = await freshVersion(land);
  const facts = platformAttributes(name, VERSION);
  const answer = expectStatus(await land.owner.post(`${path}/platforms`, platformBody(facts)), 201);
  const meta = { provider: name, version: VERSION, ...facts };
  return { answer, id: answer.body.data.id as string, meta, path: `${path}/platforms/${facts.os}/${facts.arch}` };
};

const freshKey = async (land: CatalogueWorld) => {
  const signer = await makeSigner();
  const answer = expectStatus(await addKey(land.owner, land.name, signer), 201);
  return { answer, id: answer.body.data.id as string, meta: { key_id: signer.keyId } };
};

/** The actions of the registry. */
export const REGISTRY_ACTIONS: Readonly<Record<string, AuditedAction>> = {
  'registry_provider.create': async (land) => {
    const name = land.unique('provider');
    const answer = expectStatus(await land.owner.post(pathOfProviders(land.name), providerBody(land.name, name)), 201);
    return { answer, id: answer.body.data.id, meta: { name } };
  },
  'registry_provider.update': async (land) => {
    const { name, id } = await freshProvider(land);
    const body = resource('registry-providers', {}, { 'tag-bindings': tagBindings({ env: 'prod' }) });
    const answer = expectStatus(await land.owner.patch(pathOfProvider(land.name, name), body), 200);
    return { answer, id, meta: { name, change: 'tag_bindings', from: [], to: [{ key: 'env', value: 'prod' }] } };
  },
  'registry_provider.destroy': async (land) => {
    const { name, id } = await freshProvider(land);
    return { answer: expectStatus(await land.owner.delete(pathOfProvider(land.name, name)), 204), id, meta: { name } };
  },
  'registry_provider_version.create': async (land) => {
    const { name } = await freshProvider(land);
    const answer = expectStatus(await land.owner.post(pathOfVersions(land.name, name), versionBody(VERSION)), 201);
    const meta = { provider: name, version: VERSION, key_id: NO_KEY, protocols: ['5.0'] };
    return { answer, id: answer.body.data.id, meta };
  },
  'registry_provider_version.destroy': async (land) => {
    const { name, id, path } = await freshVersion(land);
    return { answer: expectStatus(await land.owner.delete(path), 204), id, meta: { provider: name, version: VERSION } };
  },
  'registry_provider_platform.create': freshPlatform,
  'registry_provider_platform.destroy': async (land) => {
    const { id, meta, path } = await freshPlatform(land);
    return { answer: expectStatus(await land.owner.delete(path), 204), id, meta };
  },
  'gpg_key.create': freshKey,
  'gpg_key.destroy': async (land) => {
    const { id, meta } = await freshKey(land);
    const answer = expectStatus(await land.owner.delete(`${GPG_KEYS}/${land.name}/${meta.key_id}`), 204);
    return { answer, id, meta };
  },
};

/**
 * Uploads by signed links, whose caller is unknown. They are tested in
 * libs/registry/release-files/release-files.controller.spec.ts and
 * libs/runs/configuration-versions/configuration-versions.controller.spec.ts.
 */
export const SIGNED_LINK_ACTIONS = [
  'configuration_version.replace_archive',
  'registry_provider_version.upload',
  'registry_provider_version.publish',
  'registry_provider_platform.upload',
];
