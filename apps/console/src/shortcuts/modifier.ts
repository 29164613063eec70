/** Returns the name of the key for shortcuts with a modifier on this machine. */
export const getModifierName = (): string => (/Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl');
