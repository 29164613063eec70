import { describe, expect, it } from '@jest/globals';
import { renderAvatar } from './avatar.renderer.js';

const ID = 'user-4nZ8aBcDeFgHiJkL';

describe('an avatar', () => {
  it('is the same for the same id, and differs for another id', () => {
    expect(renderAvatar(ID)).toBe(renderAvatar(ID));
    expect(renderAvatar(ID)).not.toBe(renderAvatar('user-4nZ8aBcDeFgHiJkM'));
  });

  it('is small and symmetrical', () => {
    const svg = renderAvatar(ID) ?? '';
    expect(svg.length).toBeLessThan(2_000);
    const squares = [...svg.matchAll(/M(\d+) (\d+)h/g)].map(([, x, y]) => ({ x: Number(x), y: Number(y) }));
    expect(squares.length).toBeGreaterThan(0);
    for (const { x, y } of squares) expect(squares).toContainEqual({ x: 80 - x, y });
  });

  it.each(['', 'user-', 'user-short', 'ws-4nZ8aBcDeFgHiJkL', `${ID}.svg`, '<svg>'])(
    'is null for a text that is not the id of an account, such as %j',
    (text) => expect(renderAvatar(text)).toBeNull(),
  );
});
