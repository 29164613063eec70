import {
  makeNotificationConfiguration,
  newNotificationConfiguration,
  startReceiver,
} from '../support/notification-receiver.js';
import { expectStatus, resource } from '../support/seeds.js';
import type { AuditedAction, CatalogueWorld } from './audit-catalogue.actions.js';

const byId = (id: string): string => `/api/v2/notification-configurations/${id}`;

const make = async (world: CatalogueWorld, attributes: object = {}) => {
  const name = world.unique('notifications');
  return { name, id: await makeNotificationConfiguration(world.owner, `teams/${world.team}`, name, attributes) };
};

/** Actions for the rows of notification configurations. The server must permit a destination at 127.0.0.1. */
export const NOTIFICATION_ACTIONS: Readonly<Record<string, AuditedAction>> = {
  'notification_configuration.create': async (world) => {
    const name = world.unique('notifications');
    const path = `/api/v2/teams/${world.team}/notification-configurations`;
    const answer = expectStatus(await world.owner.post(path, newNotificationConfiguration(name)), 201);
    const meta = { name, destination_type: 'generic', host: 'hooks.example.com', enabled: false, team_id: world.team };
    return { answer, id: answer.body.data.id as string, meta };
  },
  'notification_configuration.update': async (world) => {
    const { id } = await make(world);
    const body = resource('notification-configurations', { name: world.unique('renamed') });
    return { answer: expectStatus(await world.owner.patch(byId(id), body), 200), id, meta: { attributes: ['name'] } };
  },
  'notification_configuration.enable': async (world) => {
    const receiver = await startReceiver();
    const { id } = await make(world, { url: receiver.url });
    const body = resource('notification-configurations', { enabled: true });
    const answer = expectStatus(await world.owner.patch(byId(id), body), 200);
    await receiver.close();
    return { answer, id, meta: null };
  },
  'notification_configuration.destroy': async (world) => {
    const { id, name } = await make(world);
    const answer = expectStatus(await world.owner.delete(byId(id)), 204);
    return { answer, id, meta: { name, team_id: world.team } };
  },
};
