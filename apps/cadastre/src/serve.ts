import { ensureAdmin } from '#access';
import { keepSecret, type Settings } from '#host';
import { openGateway } from '../../gateway/src/gateway.js';
import { migrateHouse, openHouse, type House } from '../../house.js';
import { openProjector } from '../../projector/src/projector.js';
import { openPublisher } from '../../publisher/src/publisher.js';
import { greet } from './greeting.js';

export type Running = { stop(): Promise<void> };

const ADMIN_TOKEN = 'admin-token';

/** The administrator's token: the one that is set, else one made at the first start; kept in a file either way. */
const admit = async ({ settings, store, ids }: House): Promise<{ token: string; isNew: boolean }> => {
  let isNew = false;
  const kept = await keepSecret(settings.dataFolder, ADMIN_TOKEN, () => {
    isNew = true;
    return settings.adminToken ?? ids.secret();
  });
  const token = settings.adminToken ?? kept;
  await ensureAdmin(store, ids, token);
  return { token, isNew };
};

/** Everything in one process. Resolves when requests are answered. */
export const serve = async (settings: Settings): Promise<Running> => {
  const house = await openHouse(settings, { name: 'serve' });
  const stops: (() => Promise<void>)[] = [() => house.close()];
  // Gateways first, so that nothing new comes in; the database last.
  const stop = async (): Promise<void> => {
    for (const one of stops.toReversed()) await one();
  };
  try {
    await migrateHouse(house);
    const { token, isNew } = await admit(house);
    const publisher = openPublisher(house);
    if (publisher) stops.push(() => publisher.stop());
    const projector = openProjector(house);
    stops.push(() => projector.stop());
    const { app, caFile } = await openGateway(house);
    stops.push(() => app.close());
    greet({ settings, caFile, token: isNew ? token : null, tokenFile: ADMIN_TOKEN });
    return { stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
