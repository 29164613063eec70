import { describe, expect, it } from '@jest/globals';
import { avatarOf } from './avatar.renderer.js';

const ID = 'user-4nZ8aBcDeFgHiJkL';

describe('an avatar', () => {
  it('is the same for the same id, and differs for another id', () => {
    expect(avatarOf(ID)).toBe(avatarOf(ID));
    expect(avatarOf(ID)).not.toBe(avatarOf('user-4nZ8aBcDeFgHiJkM'));
  });

  it('is a small picture that is symmetrical', () => {
    const svg = avatarOf(ID) ?? '';
    expect(svg.length).toBeLessThan(2_000);
    const squares = [...svg.matchAll(/M(\d+) (\d+)h/g)].map(([, x, y]) => ({ x: Number(x), y: Number(y) }));
    expect(squares.length).toBeGreaterThan(0);
    for (const { x, y } of squares) expect(squares).toContainEqual({ x: 80 - x, y });
  });

  it.each(['', 'user-', 'user-short', 'ws-4nZ8aBcDeFgHiJkL', `${ID}.svg`, '<svg>'])(
    'does not exist for a text that is no id of an account, such as %j',
    (text) => expect(avatarOf(text)).toBeNull(),
  );
});
