// Draws a component again only if what it is given is other than before.
import { Component, h } from 'preact';

export function memo(Inner) {
  return class extends Component {
    shouldComponentUpdate(next) {
      const keys = new Set([...Object.keys(next), ...Object.keys(this.props)]);
      return [...keys].some(k => next[k] !== this.props[k]);
    }
    render() { return h(Inner, this.props); }
  };
}

// Remembers the last result of a function, for the same arguments.
export function last(f) {
  let args = null, result;
  return (...now) => { if (!args || now.some((a, i) => a !== args[i])) { args = now; result = f(...now); } return result; };
}
