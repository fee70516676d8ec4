;;; hive-diff.el --- Diffs in text from agents  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A unified diff in the context of a question is shown with the faces of
;; `diff-mode' and with line numbers.  In a buffer you can move from hunk to
;; hunk, visit the place in the file, and compare both texts in Ediff.
;;
;; The text is untrusted: it is read with counts and regexps only, and nothing
;; of it chooses a mode, a function or a remote file.

;;; Code:

(require 'cl-lib)
(require 'hive-messages)
(require 'hive-text)
(require 'subr-x)
(require 'text-property-search)

;;;; Faces

(defface hive-diff-number '((t :inherit hive-shadow))
  "The line numbers of a diff." :group 'hive-faces)

;; The colours of Emacs' own `diff-hunk-header', on which the ink of some themes is faint.
(defface hive-diff-hunk
  '((((class color) (min-colors 88) (background light)) :background "grey85" :foreground "#000000" :extend t)
    (((class color) (min-colors 88) (background dark)) :background "grey45" :foreground "#ffffff" :extend t)
    (t :inherit bold))
  "The line above a hunk of a diff." :group 'hive-faces)

;; Those of `diff-mode' are known only once it is loaded, which takes longer
;; than showing a diff.  Its face for the names of files cannot be read on a
;; dark background.
(defconst hive-diff--faces
  '((file . bold) (hunk . hive-diff-hunk) (?- . diff-removed) (?+ . diff-added)
    (?\s . diff-context) (?\\ . hive-shadow))
  "The faces of the parts of a diff.")

;;;; Recognizing

(defconst hive-diff--hunk "^@@ -\\([0-9]+\\)\\(?:,\\([0-9]+\\)\\)? \\+\\([0-9]+\\)\\(?:,\\([0-9]+\\)\\)? @@"
  "The first line of a hunk.")

(defconst hive-diff--file "^--- [^\n]+\n\\+\\+\\+ [^\n]+\n@@ -"
  "The lines that name a file, and the beginning of a hunk.")

(defun hive-diff-at-p ()
  "Return non-nil if a diff begins at point, the beginning of a line."
  (let ((case-fold-search nil))
    (pcase (following-char)
      (?- (looking-at hive-diff--file))
      (?@ (looking-at hive-diff--hunk)))))

(defun hive-diff--count (group)
  "Return the number in GROUP of the last match; a missing one means 1."
  (if (match-beginning group) (string-to-number (match-string group)) 1))

(defun hive-diff--next-line ()
  "Go to the beginning of the next line; return nil if there is none."
  (and (zerop (forward-line 1)) (bolp) (not (eobp))))

(defun hive-diff-scan (paint)
  "Go to the end of the diff at point, and call PAINT for each of its parts.
PAINT gets the beginning and the end of a part, its kind (file, hunk, or
the first character of its lines), and for lines the numbers of the first
one in the old and in the new text.  Point must be where `hive-diff-at-p'
is non-nil."
  (let ((more t))
    (while (and more (hive-diff-at-p))
      (when (eq (following-char) ?-)
        (let ((begin (point)))
          (forward-line 2)
          (funcall paint begin (point) 'file nil nil)))
      (looking-at hive-diff--hunk)
      (let ((old (hive-diff--count 1)) (old-left (hive-diff--count 2))
            (new (hive-diff--count 3)) (new-left (hive-diff--count 4))
            (begin (point)))
        (setq more (hive-diff--next-line))
        (funcall paint begin (point) 'hunk nil nil)
        (while (and more (or (> old-left 0) (> new-left 0) (eq (following-char) ?\\)))
          (let* ((first (following-char)) (from (point)) (count 0)
                 ;; Programs that trim lines leave nothing of an empty one.
                 (mark (if (eq first ?\n) ?\s first)))
            (if (not (memq mark '(?\s ?- ?+ ?\\)))
                ;; The counts are wrong; nothing else can be a line of a hunk.
                (setq old-left 0 new-left 0)
              (while (and more (eq (following-char) first)
                          (or (eq mark ?\\)
                              (and (or (eq mark ?+) (> old-left count))
                                   (or (eq mark ?-) (> new-left count)))))
                (setq count (1+ count)
                      more (hive-diff--next-line)))
              (if (zerop count)
                  (setq old-left 0 new-left 0)
                (funcall paint from (point) mark old new)
                (unless (memq mark '(?+ ?\\))
                  (setq old (+ old count) old-left (- old-left count)))
                (unless (memq mark '(?- ?\\))
                  (setq new (+ new count) new-left (- new-left count)))))))))))

;;;; Showing

(defconst hive-diff--most-numbered 5000
  "How many lines get a number; each number costs Emacs time.")

(defconst hive-diff--continued (make-string 12 ?\s)
  "Prefix of the rest of a wrapped line, as wide as the numbers.")

(defun hive-diff-colour (most)
  "Colour the diff at point, and go to its end; return how many pieces it has.
At most MOST of them are coloured."
  (require 'diff-mode)
  (let ((pieces 0) (numbered 0))
    (hive-diff-scan
     (lambda (from to kind old new)
       (setq pieces (1+ pieces))
       (when (<= pieces most)
         (add-text-properties from to (list 'face (alist-get kind hive-diff--faces)
                                            'hive-diff (if (characterp kind) 'line kind)))
         (when (and old (not (eq kind ?\\)))
           (save-excursion
             (goto-char from)
             (while (and (< (point) to) (< numbered hive-diff--most-numbered))
               (add-text-properties (point) (min to (1+ (line-end-position)))
                                    (list 'line-prefix
                                          (hive-diff--number (unless (eq kind ?+) old)
                                                             (unless (eq kind ?-) new))
                                          'wrap-prefix hive-diff--continued))
               (setq old (1+ old) new (1+ new) numbered (1+ numbered))
               (forward-line 1)))))))
    pieces))

(defun hive-diff--number (old new)
  "Return the line numbers OLD and NEW, or nil, as they are shown before a line."
  (propertize (format "%5s %5s " (or old "") (or new "")) 'face 'hive-diff-number))

(defun hive-diff-text (text)
  "Return TEXT with its diffs coloured, but without line numbers."
  (if (not (string-match-p "^\\(?:--- \\|@@ -\\)" text))
      text
    (with-temp-buffer
      (insert text)
      (goto-char (point-min))
      (let ((left 200))
        (while (not (eobp))
          (if (hive-diff-at-p)
              (setq left (max 0 (- left (hive-diff-colour left))))
            (forward-line 1))))
      (remove-text-properties (point-min) (point-max) '(line-prefix nil wrap-prefix nil))
      (buffer-string))))

(defun hive-diff-colour-lines (end)
  "Colour the lines from point to END, the inside of a block with a diff.
Return how many pieces this took.  What has no hunks is coloured by the
first characters of its lines."
  (require 'diff-mode)
  (let ((pieces 0) (most 500))
    (while (< (point) end)
      (if (hive-diff-at-p)
          (setq pieces (+ pieces (hive-diff-colour (- most pieces))))
        (let ((from (point)) (first (following-char)))
          (while (and (< (point) end) (eq (following-char) first) (not (hive-diff-at-p)))
            (forward-line 1))
          (when (and (memq first '(?+ ?-)) (< pieces most))
            (setq pieces (1+ pieces))
            (put-text-property from (min end (point)) 'face (alist-get first hive-diff--faces))))))
    pieces))

;;;; Moving

(defvar hive-diff-map
  (hive-keymap "RET" #'hive-diff-visit
               "<mouse-2>" #'hive-diff-visit-click
               "E" #'hive-diff-ediff)
  "Keymap on a diff.")

(defun hive-diff-activate (beg end)
  "Make the diffs between BEG and END respond to keys and to the mouse."
  (save-excursion
    (goto-char beg)
    (let ((at beg))
      (while (< at end)
        (let ((next (next-single-property-change at 'hive-diff nil end))
              (kind (get-text-property at 'hive-diff)))
          (when kind (put-text-property at next 'keymap hive-diff-map))
          (when (eq kind 'file) (hive-diff--activate-file at))
          (setq at next))))))

(defun hive-diff--activate-file (at)
  "Make the file name in the header at AT a button."
  (goto-char at)
  (forward-line (if (looking-at-p "--- /dev/null$") 1 0))
  (let ((begin (+ 4 (point))) (end (line-end-position)))
    (add-text-properties begin end
                         (list 'mouse-face 'highlight 'follow-link t
                               'help-echo (hive-words "Visit this file")
                               'face '(underline bold)))))

(defun hive-diff--hunks ()
  "Return where the hunks of this buffer begin."
  (save-excursion
    (goto-char (point-min))
    (let (found match)
      (while (setq match (text-property-search-forward 'hive-diff 'hunk t))
        (push (prop-match-beginning match) found))
      (nreverse found))))

(defun hive-diff-next (&optional back)
  "Go to the next hunk, or with BACK to the one before.
Return nil if there is none."
  (let* ((here (line-beginning-position))
         (hunks (hive-diff--hunks))
         (hunk (if back (cl-find-if (lambda (at) (< at here)) hunks :from-end t)
                 (cl-find-if (lambda (at) (> at here)) hunks))))
    (when hunk
      (push-mark nil t)
      (goto-char hunk)
      t)))

;;;; Its files

(defvar-local hive-diff-directory nil
  "The directory to which relative file names of this buffer belong, or nil.")

(defun hive-diff--back-to-file ()
  "Go to the header of the diff at point; return nil if there is none."
  (end-of-line)
  ;; A search backward finds nothing that goes beyond point.
  (when (eq 'file (get-text-property (line-beginning-position) 'hive-diff))
    (while (eq 'file (get-text-property (point) 'hive-diff)) (forward-line 1))
    (end-of-line))
  (re-search-backward hive-diff--file nil t))

(defun hive-diff--header ()
  "Return the header of the diff at point: old name, new name, what they name.
The last is nil if the lines are those of the whole file."
  (save-excursion
    (when (hive-diff--back-to-file)
      (let ((old (hive-diff--name 4)))
        (forward-line 1)
        (list (car old) (car (hive-diff--name 4)) (cdr old))))))

(defun hive-diff--name (skip)
  "Return the file name in this line after SKIP characters, and what it names."
  (let* ((line (buffer-substring-no-properties (+ (point) skip) (line-end-position)))
         (parts (split-string line "\t"))
         (name (car parts)))
    (cons (if (string-prefix-p "\"" name)
              (or (ignore-errors (json-parse-string name)) name)
            name)
          (cadr parts))))

(defun hive-diff--file-name (name)
  "Return NAME, from a diff, as the name of a file of this machine, or signal."
  (let ((file (if (file-name-absolute-p name) name
                (and hive-diff-directory (expand-file-name name hive-diff-directory)))))
    (unless file
      (hive-fail "%s is a relative path, and its directory is unknown" (hive-text-line name 80)))
    ;; A diff in the style of Git.
    (when (and (not (file-name-absolute-p name)) (string-match-p "\\`[ab]/" name)
               (not (file-exists-p (concat "/:" file))))
      (setq file (expand-file-name (substring name 2) hive-diff-directory)))
    ;; Nothing that an agent wrote makes Emacs connect to another machine.
    (when (file-remote-p file)
      (hive-fail "%s is on another machine; visit it yourself if you want to"
                 (hive-text-line file 80)))
    file))

(defun hive-diff--line ()
  "Return the line of the new file that point is at."
  (save-excursion
    (beginning-of-line)
    (let ((here (point)) (line nil))
      (when (or (looking-at hive-diff--hunk) (re-search-backward hive-diff--hunk nil t))
        (setq line (string-to-number (match-string 3)))
        (forward-line 1)
        (while (< (point) here)
          (when (memq (following-char) '(?\s ?+ ?\n)) (setq line (1+ line)))
          (forward-line 1)))
      line)))

(defun hive-diff-visit ()
  "Visit the file of the diff at point, in the line that point is at."
  (declare (modes hive-prompt-mode))
  (interactive)
  (pcase-let* ((`(,old ,new ,part) (or (hive-diff--header) (hive-fail 'diff-no-file)))
               (file (hive-diff--file-name (if (equal new "/dev/null") old new)))
               (line (and (null part) (not (eq 'file (get-text-property (point) 'hive-diff)))
                          (hive-diff--line))))
    (unless (file-exists-p file) (hive-fail 'diff-gone (hive-text-line file 80)))
    (find-file-other-window file)
    (when line
      (widen)
      (goto-char (point-min))
      (forward-line (1- line)))))

(defun hive-diff-visit-click (event)
  "Visit the file of the diff at EVENT."
  (declare (modes hive-prompt-mode))
  (interactive "e")
  (mouse-set-point event)
  (hive-diff-visit))

;;;; Ediff

(defun hive-diff--hunks-of-file ()
  "Return the hunks of the file at point, as lists.
Each has the number of its first old line, its old and its new lines."
  (save-excursion
    (let (hunks)
      (when (hive-diff--back-to-file)
        (let ((files 0))
          (catch 'done
            (hive-diff-scan
             (lambda (from to kind old _new)
               (pcase kind
                 ('file (when (> (setq files (1+ files)) 1) (throw 'done nil)))
                 ('hunk (push (list nil nil nil) hunks))
                 (?\\)
                 (_ (let ((hunk (car hunks)) (lines (hive-diff--lines from to)))
                      (unless (car hunk) (setcar hunk old))
                      (unless (eq kind ?+) (setf (nth 1 hunk) (append (nth 1 hunk) lines)))
                      (unless (eq kind ?-) (setf (nth 2 hunk) (append (nth 2 hunk) lines)))))))))))
      (nreverse hunks))))

(defun hive-diff--lines (from to)
  "Return the lines between FROM and TO without their first characters."
  (mapcar (lambda (line) (if (equal line "") "" (substring line 1)))
          (split-string (string-remove-suffix "\n" (buffer-substring-no-properties from to)) "\n")))

(defun hive-diff--applied (before hunks)
  "Return the lines BEFORE with HUNKS applied, or nil if they do not fit."
  (let ((at 1) (rest before) (after nil))
    (catch 'misfit
      (pcase-dolist (`(,line ,old ,new) hunks)
        (while (and rest (< at (or line 1)))
          (push (pop rest) after)
          (setq at (1+ at)))
        (dolist (one old)
          (unless (and rest (equal one (hive-text-inert (car rest)))) (throw 'misfit nil))
          (pop rest)
          (setq at (1+ at)))
        (dolist (one new) (push one after)))
      (append (nreverse after) rest))))

(defconst hive-diff--most-bytes (* 2 1024 1024) "The largest file that Ediff gets.")

(defun hive-diff--file-lines (file)
  "Return the lines of FILE, a plain file of bounded size, or signal."
  (let ((attributes (file-attributes file)))
    (unless (and attributes (file-regular-p file)) (hive-fail 'diff-gone (hive-text-line file 80)))
    (when (> (file-attribute-size attributes) hive-diff--most-bytes)
      (hive-fail "%s is too large to compare" (hive-text-line file 80)))
    (with-temp-buffer
      (let ((coding-system-for-read 'utf-8-auto)) (insert-file-contents file))
      (split-string (buffer-string) "\n"))))

(defun hive-diff--buffer (which name lines)
  "Return a buffer with LINES of the file NAME, which is WHICH: before or after.
It has no mode: the text is an agent's."
  (let ((buffer (generate-new-buffer
                 (format "*hive %s: %s*" which (hive-text-line (file-name-nondirectory name) 60)))))
    (with-current-buffer buffer
      (insert (hive-text-inert (string-join lines "\n")))
      (goto-char (point-min))
      (hive-text-guard)
      ;; Ediff writes it to a file, and counts the lines there.
      (setq-local hive-text-file-start (string-replace "\n" "  " hive-text-file-start))
      (setq buffer-read-only t)
      (set-buffer-modified-p nil))
    buffer))

(defun hive-diff-ediff ()
  "Compare the file of the diff at point with what it would become, in Ediff.
If point is not on a diff, take the first one."
  (declare (modes hive-prompt-mode))
  (interactive)
  (unless (get-text-property (line-beginning-position) 'hive-diff)
    (goto-char (or (car (hive-diff--hunks)) (hive-fail 'diff-no-file))))
  (pcase-let* ((`(,old ,new ,part) (or (hive-diff--header) (hive-fail 'diff-no-file)))
               (name (if (equal old "/dev/null") new old))
               (hunks (hive-diff--hunks-of-file))
               (parts (or part (equal old "/dev/null")))
               (before (if parts (mapcan (lambda (hunk) (copy-sequence (nth 1 hunk))) hunks)
                         (hive-diff--file-lines (hive-diff--file-name old))))
               (after (if parts (mapcan (lambda (hunk) (copy-sequence (nth 2 hunk))) hunks)
                        (hive-diff--applied before hunks))))
    (unless (or parts after)
      (hive-fail "%s has changed since this diff was made" (hive-text-line name 80)))
    (let ((one (hive-diff--buffer (hive-words "before") name before))
          (other (hive-diff--buffer (hive-words "after") name after))
          (configuration (current-window-configuration)))
      (require 'ediff)
      (ediff-buffers
       one other
       (list (lambda ()
               (add-hook 'ediff-quit-hook
                         (lambda ()
                           (mapc #'kill-buffer (cl-remove-if-not #'buffer-live-p (list one other)))
                           (set-window-configuration configuration))
                         90 t)))))))

(provide 'hive-diff)
;;; hive-diff.el ends here
