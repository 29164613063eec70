import type { Adapter, AdapterPayload } from 'oidc-provider';

const secondsNow = (): number => Math.floor(Date.now() / 1_000);

/** What a provider stores of sessions, codes and tokens, in the memory of the test. */
export type ProviderRecords = Map<string, AdapterPayload>;

/** Returns the store of one kind of records, such as `Session`. */
export const createRecordStore = (kind: string, records: ProviderRecords): Adapter => {
  const toKey = (id: string): string => `${kind} ${id}`;
  const findUnexpired = (payload: AdapterPayload | undefined): Promise<AdapterPayload | undefined> =>
    Promise.resolve(payload && (payload.exp ?? Infinity) > secondsNow() ? payload : undefined);
  const findBy = (name: 'uid' | 'userCode', value: string): Promise<AdapterPayload | undefined> => {
    const entry = [...records].find(([key, payload]) => key.startsWith(`${kind} `) && payload[name] === value);
    return findUnexpired(entry?.[1]);
  };
  return {
    upsert: (id, payload) => Promise.resolve(void records.set(toKey(id), payload)),
    find: (id) => findUnexpired(records.get(toKey(id))),
    findByUid: (uid) => findBy('uid', uid),
    findByUserCode: (code) => findBy('userCode', code),
    consume: (id) => {
      const payload = records.get(toKey(id));
      if (payload) payload['consumed'] = secondsNow();
      return Promise.resolve();
    },
    destroy: (id) => Promise.resolve(void records.delete(toKey(id))),
    revokeByGrantId: (grant) => {
      for (const [key, { grantId }] of records) if (grantId === grant) records.delete(key);
      return Promise.resolve();
    },
  };
};
