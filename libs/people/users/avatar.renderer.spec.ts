import { describe, expect, it } from '@jest/globals';
import { renderAvatar } from './avatar.renderer.js';

const ID = 'user-4nZ8aBcDeFgHiJkL';

describe('an avatar', () => {
  it('is the same for the same id, and differs for another id', () => {
    expect(renderAvatar(ID)).toBe(renderAvatar(ID));
    expect(renderAvatar(ID)).not.toBe(renderAvatar('user-4nZ8aBcDeFgHiJkM'));
  });

  it('is a small picture that is symmetrical', () => {
    const svg = renderAvatar(ID) ?? '';
    expect(svg.length).toBeLessThan(2_000);
    const squares = [...svg.matchAll(/M(\d+) (\d+)h/g)].map(([, x, y]) => ({ x: Number(x), y: Number(y) }));
    expect(squares.length).toBeGreaterThan(0);
    for (const { x, y } of squares) expect(squares).toContainEqual({ x: 80 - x, y });
  });

  it.each(['', 'user-', 'user-short', 'ws-4nZ8aBcDeFgHiJkL', `${ID}.svg`, '<svg>'])(
    'does not exist for a text that is no id of an account, such as %j',
    (text) => expect(renderAvatar(text)).toBeNull(),
  );
});
