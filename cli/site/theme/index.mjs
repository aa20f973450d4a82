import DefaultTheme from 'vitepress/theme-without-fonts';
import './theme.css';

/** Letters are those of the machine, so that no font is loaded. */
export default DefaultTheme;
