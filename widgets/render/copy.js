// copier makes a button that copies a text and says so.
function copier(text, words) {
  var b = button(words || 'copy', function () {
    var show = function () { b.textContent = text; };
    navigator.clipboard ? navigator.clipboard.writeText(text).then(function () { b.textContent = 'copied'; }, show) : show();
  });
  return b;
}
[].forEach.call(root.querySelectorAll('code.halftone-copy'), function (c) {
  var b = copier(c.textContent);
  b.style.marginLeft = '8px';
  b.setAttribute('aria-label', 'copy ' + c.textContent);
  c.parentNode.appendChild(b);
});
