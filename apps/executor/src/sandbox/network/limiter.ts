/** Returns a function that runs work at once, or after earlier work has ended if as much as `most` runs. */
export const createLimiter = (most: number) => {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // The next work takes the turn of this one.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
};
