import { describe, expect, it } from '@jest/globals';
import { KeyedMutex } from './keyed-mutex.js';

describe('a keyed mutex', () => {
  it('runs work of one key in order even if some of it fails, and work of other keys at the same time', async () => {
    const turns = new KeyedMutex();
    const log: string[] = [];
    const gates = new Map<string, () => void>();
    const take = (key: string, name: string, fails = false): Promise<string> =>
      turns.take(key, async () => {
        log.push(`${name} begins`);
        await new Promise<void>((resolve) => gates.set(name, resolve));
        log.push(`${name} ends`);
        if (fails) throw new Error(`${name} fails`);
        return name;
      });
    const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const [first, second, unrelated] = [take('a', 'first', true), take('a', 'second'), take('b', 'other')];
    await settled();
    expect(log).toEqual(['first begins', 'other begins']);
    gates.get('first')?.();
    await expect(first).rejects.toThrow('first fails');
    await settled();
    gates.get('second')?.();
    gates.get('other')?.();
    expect(await Promise.all([second, unrelated])).toEqual(['second', 'other']);
    expect(log).toEqual(['first begins', 'other begins', 'first ends', 'second begins', 'second ends', 'other ends']);
  });
});
