import { describe, expect, it } from '@jest/globals';
import { KeyedMutex } from './keyed-mutex.js';

describe('turns', () => {
  it('are taken one after the other, whatever becomes of each, and every key has its own', async () => {
    const turns = new KeyedMutex();
    const said: string[] = [];
    const gates = new Map<string, () => void>();
    const take = (key: string, name: string, fails = false): Promise<string> =>
      turns.take(key, async () => {
        said.push(`${name} begins`);
        await new Promise<void>((resolve) => gates.set(name, resolve));
        said.push(`${name} ends`);
        if (fails) throw new Error(`${name} fails`);
        return name;
      });
    const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const [first, second, other] = [take('a', 'first', true), take('a', 'second'), take('b', 'other')];
    await settled();
    expect(said).toEqual(['first begins', 'other begins']);
    gates.get('first')?.();
    await expect(first).rejects.toThrow('first fails');
    await settled();
    gates.get('second')?.();
    gates.get('other')?.();
    expect(await Promise.all([second, other])).toEqual(['second', 'other']);
    expect(said).toEqual(['first begins', 'other begins', 'first ends', 'second begins', 'second ends', 'other ends']);
  });
});
