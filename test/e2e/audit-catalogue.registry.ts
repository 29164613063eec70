import { makeModule, makeModuleVersion, moduleBody, pathOfModule, pathOfModules } from '../support/registry-modules.js';
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
import { makeSigner, renewArmor } from '../support/releases.js';
import { expectStatus, resource, tagBindings } from '../support/seeds.js';
import { createEndActions, type AuditedAction, type CatalogueWorld } from './audit-catalogue.actions.js';

const VERSION = '1.0.0';

const freshProvider = async (world: CatalogueWorld) => {
  const name = world.unique('provider');
  return { name, id: await makeProvider(world.owner, world.name, name) };
};

const freshVersion = async (world: CatalogueWorld) => {
  const { name } = await freshProvider(world);
  const { id } = await makeVersion(world.owner, world.name, name, VERSION);
  return { name, id: id as string, path: pathOfVersion(world.name, name, VERSION) };
};

const freshPlatform = async (world: CatalogueWorld) => {
  const { name, path } = await freshVersion(world);
  const facts = platformAttributes(name, VERSION);
  const answer = expectStatus(await world.owner.post(`${path}/platforms`, platformBody(facts)), 201);
  const meta = { provider: name, version: VERSION, ...facts };
  return { answer, id: answer.body.data.id as string, meta, path: `${path}/platforms/${facts.os}/${facts.arch}` };
};

const providerEnds = createEndActions(async (world) => {
  const { name, id } = await freshProvider(world);
  return { id, name, path: pathOfProvider(world.name, name) };
});

const freshModule = async (world: CatalogueWorld) => {
  const name = world.unique('module');
  return { name, id: await makeModule(world.owner, world.name, name) };
};

const TEN_YEARS_SECONDS = 10 * 365 * 24 * 60 * 60;

const freshKey = async (world: CatalogueWorld) => {
  const signer = await makeSigner();
  const answer = expectStatus(await addKey(world.owner, world.name, signer), 201);
  return { answer, id: answer.body.data.id as string, meta: { key_id: signer.keyId }, signer };
};

/** The actions of the registry. */
export const REGISTRY_ACTIONS: Readonly<Record<string, AuditedAction>> = {
  'registry_provider.create': async (world) => {
    const name = world.unique('provider');
    const answer = expectStatus(
      await world.owner.post(pathOfProviders(world.name), providerBody(world.name, name)),
      201,
    );
    return { answer, id: answer.body.data.id, meta: { name } };
  },
  'registry_provider.update': async (world) => {
    const { name, id } = await freshProvider(world);
    const body = resource('registry-providers', {}, { 'tag-bindings': tagBindings({ env: 'prod' }) });
    const answer = expectStatus(await world.owner.patch(pathOfProvider(world.name, name), body), 200);
    return { answer, id, meta: { name, change: 'tag_bindings', from: [], to: [{ key: 'env', value: 'prod' }] } };
  },
  'registry_provider.destroy': (world) => providerEnds.destroy(world),
  'registry_provider.recover': (world) => providerEnds.recover(world),
  'registry_provider.purge': (world) => providerEnds.purge(world),
  'registry_provider_version.create': async (world) => {
    const { name } = await freshProvider(world);
    const answer = expectStatus(await world.owner.post(pathOfVersions(world.name, name), versionBody(VERSION)), 201);
    const meta = { provider: name, version: VERSION, key_id: NO_KEY, protocols: ['5.0'] };
    return { answer, id: answer.body.data.id, meta };
  },
  'registry_provider_version.destroy': async (world) => {
    const { name, id, path } = await freshVersion(world);
    return {
      answer: expectStatus(await world.owner.delete(path), 204),
      id,
      meta: { provider: name, version: VERSION },
    };
  },
  'registry_provider_platform.create': freshPlatform,
  'registry_provider_platform.destroy': async (world) => {
    const { id, meta, path } = await freshPlatform(world);
    return { answer: expectStatus(await world.owner.delete(path), 204), id, meta };
  },
  'registry_module.create': async (world) => {
    const name = world.unique('module');
    const answer = expectStatus(await world.owner.post(pathOfModules(world.name), moduleBody(name)), 201);
    return { answer, id: answer.body.data.id, meta: { name, provider: 'aws' } };
  },
  'registry_module.update': async (world) => {
    const { name, id } = await freshModule(world);
    const body = resource('registry-modules', { 'no-code': true });
    const answer = expectStatus(await world.owner.patch(pathOfModule(world.name, name), body), 200);
    return { answer, id, meta: { name, provider: 'aws', change: 'no_code', no_code: true } };
  },
  'registry_module.destroy': async (world) => {
    const { name, id } = await freshModule(world);
    const answer = expectStatus(await world.owner.delete(pathOfModule(world.name, name)), 204);
    return { answer, id, meta: { name, provider: 'aws' } };
  },
  'registry_module.destroy_version': async (world) => {
    const { name, id } = await freshModule(world);
    for (const version of [VERSION, '1.1.0']) await makeModuleVersion(world.owner, world.name, name, version);
    const answer = expectStatus(await world.owner.delete(`${pathOfModule(world.name, name)}/${VERSION}`), 204);
    return { answer, id, meta: { name, provider: 'aws', module_version: VERSION, version: 1 } };
  },
  'gpg_key.create': freshKey,
  'gpg_key.update': async (world) => {
    const { id, meta, signer } = await freshKey(world);
    const armor = await renewArmor(signer, TEN_YEARS_SECONDS);
    const body = resource('gpg-keys', { namespace: world.name, 'ascii-armor': armor });
    const answer = expectStatus(await world.owner.patch(`${GPG_KEYS}/${world.name}/${meta.key_id}`, body), 200);
    return { answer, id, meta };
  },
  'gpg_key.destroy': async (world) => {
    const { id, meta } = await freshKey(world);
    const answer = expectStatus(await world.owner.delete(`${GPG_KEYS}/${world.name}/${meta.key_id}`), 204);
    return { answer, id, meta };
  },
};

/**
 * Uploads by signed links, whose caller is unknown. They are tested in
 * libs/registry/registry/release-files/release-files.controller.spec.ts and
 * libs/runs/runs/configuration-versions/configuration-versions.controller.spec.ts.
 */
export const SIGNED_LINK_ACTIONS = [
  'configuration_version.replace_archive',
  'registry_provider_version.upload',
  'registry_provider_version.publish',
  'registry_provider_platform.upload',
];
