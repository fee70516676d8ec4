;;; drawn.el --- What a frame draws, page by page  -*- lexical-binding: t; -*-

;;; Code:

(require 'cl-lib)
(require 'hive-display)

(defvar drawn-folder nil "Where the texts are, and where replies go.")
(defvar drawn-texts nil "The texts that are still to be shown.")
(defvar drawn-page 0 "The number of the page that is shown.")

(defun drawn-start (folder)
  "Show what FOLDER has: lines for pages, and texts for the echo area."
  (setq drawn-folder folder
        inhibit-startup-screen t)
  (setq-default bidi-display-reordering nil)
  (menu-bar-mode -1)
  (switch-to-buffer "drawn")
  (setq mode-line-format nil)
  (local-set-key "p" #'drawn-next-page)
  (local-set-key "t" #'drawn-next-text)
  (insert "ready"))

(defun drawn-read (name)
  "Return the texts of the file NAME, which are separated by a form feed."
  (with-temp-buffer
    (let ((coding-system-for-read 'utf-8-unix)) (insert-file-contents (expand-file-name name drawn-folder)))
    (split-string (buffer-string) "\f" t)))

(defun drawn-next-page ()
  "Show the next lines, made inert, as many as the window has."
  (interactive)
  (unless drawn-texts (setq drawn-texts (drawn-read "lines")))
  (erase-buffer)
  (dotimes (_ (- (window-body-height) 2))
    (when drawn-texts (insert (hive-text-inert (pop drawn-texts)) "\n")))
  (insert (format "page %d" (setq drawn-page (1+ drawn-page))))
  (goto-char (point-min))
  (redraw-display))

(defun drawn-next-text ()
  "Show the next text in the echo area, if it certainly fits there."
  (interactive)
  (unless drawn-texts (setq drawn-texts (drawn-read "texts")))
  (let* ((text (hive-text-inert (pop drawn-texts)))
         (fits (hive-display-fits-p text))
         (resize-mini-windows t) (max-mini-window-height 1.0) (message-log-max nil)
         (window-min-height hive-display-window-lines))
    (erase-buffer)
    (insert (format "text %d %s" (setq drawn-page (1+ drawn-page)) (if fits "fits" "is too long")))
    (redraw-display)
    (message "%s" (if fits text ""))
    ;; A key ends the message; the next one shows the next text.
    (read-key (if fits text ""))))

(defun drawn-cells (items stride)
  "Show ITEMS in a graphical frame, STRIDE pixels apart, an even number a line.
Return where: first the top of the line below the last, then the left edge and
the top of each item, in pixels of the frame.  An item that is too wide for its
place makes an error."
  (switch-to-buffer "drawn")
  (setq mode-line-format nil
        cursor-type nil
        truncate-lines t
        bidi-display-reordering nil)
  (erase-buffer)
  (let* ((edges (window-inside-pixel-edges))
         (per-line (* 2 (/ (window-body-width nil t) stride 2)))
         (places nil))
    (while items
      (dotimes (column per-line)
        (when items
          (insert (propertize " " 'display `(space :align-to (,(* column stride)))))
          (push (cons (point) (* column stride)) places)
          (insert (hive-text-inert (pop items)))))
      (insert "\n"))
    (push (cons (point) 0) places)
    (insert "end")
    (goto-char (point-min))
    (redisplay t)
    (cl-loop for (at . left) in places
             for (x . y) = (posn-x-y (or (posn-at-point at) (error "No room for %d" at)))
             unless (= x left) do (error "%S is too wide" (char-before (1- at)))
             collect (list (+ x (nth 0 edges)) (+ y (nth 1 edges))))))

(provide 'drawn)
;;; drawn.el ends here
