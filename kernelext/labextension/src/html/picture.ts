// A picture with nothing to try: it only follows the page's theme.
import { figure, styled } from './page';

if (figure()) styled();
