/** What is told anew each second: kept in a shadow tree, so that its ticking changes nothing around it. */
export class Ticking extends HTMLElement {
  connectedCallback() {
    this.shadow ??= this.attachShadow({ mode: "closed" });
    this.tick();
    this.timer = setInterval(() => this.tick(), 1000);
  }

  disconnectedCallback() {
    clearInterval(this.timer);
  }

  /** Draw it. */
  tick() {}
}
