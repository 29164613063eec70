import { Menu, useMantineColorScheme } from '@mantine/core';
import { CheckIcon } from '../components/icons.js';
import { COLOR_SCHEMES } from './color-schemes.js';
import type { MenuProps } from './menu-button.js';

export const ColorSchemeMenu = ({ children }: MenuProps) => {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu defaultOpened withinPortal={false} position="bottom-end" width={180}>
      <Menu.Target>{children}</Menu.Target>
      <Menu.Dropdown>
        {COLOR_SCHEMES.map(({ value, label, icon: Icon }) => (
          <Menu.Item
            key={value}
            role="menuitemradio"
            aria-checked={value === colorScheme}
            leftSection={<Icon size={16} />}
            rightSection={value === colorScheme ? <CheckIcon size={14} /> : null}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
};
