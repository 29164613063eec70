import type { Database, DatabaseSession } from '#postgres';

/** A connection with several owners. It closes when the last of them closes it. */
export type SharedSession = DatabaseSession & {
  /** Returns the same connection for another owner. */
  share(): SharedSession;
  /** Calls the listener when the connection has ended or is broken. */
  onEnd(listener: () => void): void;
};

export const openSharedSession = async (database: Database): Promise<SharedSession> => {
  const listeners = new Set<() => void>();
  const session = await database.session(() => {
    for (const listener of listeners) listener();
  });
  let owners = 0;
  const share = (): SharedSession => {
    owners += 1;
    let isClosed = false;
    return {
      ...session,
      share,
      onEnd: (listener) => void listeners.add(listener),
      close: async () => {
        if (isClosed) return;
        isClosed = true;
        owners -= 1;
        if (owners === 0) await session.close();
      },
    };
  };
  return share();
};
